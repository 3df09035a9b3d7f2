"""What `headrace dev` starts from."""

from headrace.config.load import load
from headrace.config.presets import DEV_PRESETS


def test_the_presets_are_a_valid_configuration():
    loaded = load(base={preset.key: preset.value for preset in DEV_PRESETS}, environment={})
    assert loaded.warnings == ()
    config = loaded.config
    assert config.groups.initial_rebalance_delay_ms == 0
    memory = (
        config.storage.log_cache_bytes
        + config.storage.block_cache_bytes
        + config.storage.compaction_memory_bytes
    )
    assert memory <= 256 * 1024 * 1024


def test_every_preset_differs_from_the_default_and_says_why():
    defaults = load(environment={}).config
    for preset in DEV_PRESETS:
        changed = load(base={preset.key: preset.value}, environment={}).config
        assert changed != defaults, preset.key
        assert preset.why
