"""The models of the kit as a service lists them."""

from kit import wire
from kit.engines.base import Definition
from kit.engines.registry import list_engines

BUILT_IN = {
    name: engine.definition
    for name, engine in list_engines().items()
    if type(engine).__module__.startswith("kit.")
}


def model_of(definition: Definition) -> wire.Model:
    return wire.Model(
        id=definition.id,
        title=definition.title,
        asset_type=definition.asset_type,
        supports_prompt=definition.supports_prompt,
        prompt_required=definition.prompt_required,
        setting_parameters=list(definition.settings),
        media_parameters=list(definition.media),
        pricing=definition.pricing,
    )
