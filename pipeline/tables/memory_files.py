"""Data files in memory: to see whether a table's files can be written and read, before a schema is committed."""

import io

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile, OutputStream


class MemoryFiles(FileIO):
    """Files of one trial; they go with it."""

    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[str, bytes] = {}

    def new_input(self, location: str) -> InputFile:
        """See `FileIO.new_input`."""
        return _MemoryFile(location, self.contents)

    def new_output(self, location: str) -> OutputFile:
        """See `FileIO.new_output`."""
        return _MemoryFile(location, self.contents)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """See `FileIO.delete`."""
        self.contents.pop(location if isinstance(location, str) else location.location, None)


class _MemoryFile(OutputFile, InputFile):
    def __init__(self, location: str, contents: dict[str, bytes]) -> None:
        super().__init__(location=location)
        self._contents = contents

    def __len__(self) -> int:
        return len(self._contents[self.location])

    def exists(self) -> bool:
        return self.location in self._contents

    def to_input_file(self) -> InputFile:
        return self

    def open(self, seekable: bool = True) -> InputStream:  # noqa: FBT001, FBT002 - as pyiceberg has it
        del seekable
        return io.BytesIO(self._contents[self.location])

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: FBT001, FBT002 - as pyiceberg has it
        del overwrite
        return _Content(self.location, self._contents)


class _Content(io.BytesIO):
    """Becomes the file's content when it is closed."""

    def __init__(self, location: str, contents: dict[str, bytes]) -> None:
        super().__init__()
        self._location = location
        self._contents = contents

    def close(self) -> None:
        if not self.closed:
            self._contents[self._location] = self.getvalue()
        super().close()
