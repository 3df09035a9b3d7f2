"""What is in force for topics of one broker, whose defaults may be changed while it runs. Pure."""

from collections.abc import Mapping

from headrace.config.dynamic_keys import PRODUCER_EXPIRATION_KEY
from headrace.config.topic import EffectiveTopicConfig, topic_defaults
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.configs import NO_OVERRIDES, Overrides


class TopicDefaults:
    """The settings of a broker that topics without own ones have; those of the newest image that was asked about."""

    def __init__(
        self, static: Mapping[str, str], producer_expiration_ms: int, node_id: int
    ) -> None:
        """Begin with what was read at the start.

        Args:
            static: by the names that topics have.
            producer_expiration_ms: of idempotent producers that are idle.
            node_id: of the broker.
        """
        self._static = static
        self._static_expiration_ms = producer_expiration_ms
        self._node_id = node_id
        self._layers = (NO_OVERRIDES, NO_OVERRIDES)
        self._take(self._layers)

    def have_changed(self, image: MetadataImage) -> bool:
        """Whether they differ from those of the image before."""
        layers = (image.broker_config(self._node_id), image.broker_config(""))
        if layers[0] is self._layers[0] and layers[1] is self._layers[1]:
            return False
        before = (self._values, self.producer_expiration_ms)
        self._layers = layers
        self._take(layers)
        return before != (self._values, self.producer_expiration_ms)

    def differing(self, image: MetadataImage) -> "TopicDefaults | None":
        """Those of another image; None if they are the same."""
        other = TopicDefaults(self._static, self._static_expiration_ms, self._node_id)
        other._layers, other._values = self._layers, self._values
        other.producer_expiration_ms = self.producer_expiration_ms
        return other if other.have_changed(image) else None

    def resolve(self, image: MetadataImage, topic: str) -> EffectiveTopicConfig:
        """What is in force for a topic."""
        self.have_changed(image)
        overrides = image.topic_config(topic)
        return EffectiveTopicConfig.resolve(overrides, self._values) if overrides else self._plain

    def _take(self, layers: tuple[Overrides, Overrides]) -> None:
        self._values = {**self._static, **topic_defaults(*layers)}
        self._plain = EffectiveTopicConfig.resolve({}, self._values)
        key = PRODUCER_EXPIRATION_KEY
        set_ms = next((it[key] for it in layers if key in it), None)
        self.producer_expiration_ms = self._static_expiration_ms if set_ms is None else int(set_ms)
