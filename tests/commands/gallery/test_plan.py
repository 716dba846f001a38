import pytest

from kit import parameters, wire
from kit.commands.gallery.plan import FAVORITES, RULES, Example, format_value, plan
from kit.engines import samples
from kit.engines.base import Definition
from tests.commands.gallery.models import BUILT_IN, model_of

#: The types of samples that are not pictures.
KINDS = {
    **dict.fromkeys(("clip", "clip-1", "clip-2", "speaker"), "video"),
    **dict.fromkeys(("voice", "music"), "audio"),
}


def choice(name: str, *values: str) -> wire.Parameter:
    return wire.Parameter(name=name, default=values[0], enum=list(values))


def medium(name: str, kind: str, **more: object) -> wire.Parameter:
    return wire.Parameter(name=name, type=kind, media=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("definition", BUILT_IN.values(), ids=BUILT_IN)
def test_every_model_has_examples_that_are_valid_requests(definition: Definition) -> None:
    model = model_of(definition)

    examples = plan([model])

    assert len(examples) == 1 + len(FAVORITES[model.id].get("variants", ()))
    takes = {p.name: p.type for p in model.media_parameters}
    for example in examples:
        parameters.check(
            model, prompt=example.prompt, parameters=example.settings, media=example.media
        )
        for name, files in example.media.items():
            assert set(files) <= samples.ABOUT.keys()
            assert {KINDS.get(file, "image") for file in files} == {takes[name]}


@pytest.mark.parametrize("definition", BUILT_IN.values(), ids=BUILT_IN)
def test_no_two_examples_of_a_model_are_equal(definition: Definition) -> None:
    examples = plan([model_of(definition)])

    requests = [(e.prompt, dict(e.settings), dict(e.media)) for e in examples]
    assert all(one not in requests[:place] for place, one in enumerate(requests))
    assert len({(example.title, example.prompt) for example in examples}) == len(examples)
    assert len(examples) > 1


def test_favorites_are_only_of_models_that_exist() -> None:
    assert FAVORITES.keys() <= BUILT_IN.keys()


def test_examples_change_one_setting_at_a_time_and_no_technical_one() -> None:
    settings = [choice("format", "png", "jpeg"), choice("hue", "red", "blue", "green")]
    model = wire.Model(id="new", supports_prompt=True, setting_parameters=settings)

    examples = plan([model])

    assert [e.title for e in examples] == ["", "hue=blue", "hue=green"]


def test_an_unknown_image_model_has_a_maximum_of_examples() -> None:
    model = wire.Model(id="new", setting_parameters=[choice("hue", *"abcdefghijklmnop")])

    assert len(plan([model])) == RULES["most"]["image"]


def test_video_examples_are_small_and_short() -> None:
    settings = [
        choice("hue", "a", "b", "c", "d", "e", "f"),
        choice("camera", "push", "pull"),
        choice("resolution", "720p", "480p"),
        wire.Parameter(name="duration", type="number", default=8, minimum=1, maximum=12),
    ]
    model = wire.Model(id="new", asset_type="video", setting_parameters=settings)

    examples = plan([model])

    assert [e.title for e in examples] == ["", "hue=b", "hue=c", "hue=d", "hue=e"]
    assert {(e.settings["resolution"], e.settings["duration"]) for e in examples} == {("480p", 3)}


def test_samples_for_media_are_chosen_by_name_and_type() -> None:
    media = [
        medium("portrait", "image", required=True),
        medium("audio", "audio", required=True),
        medium("clips", "video", required=True, max_items=10),
        medium("music", "audio"),
    ]

    assert plan([wire.Model(id="new", media_parameters=media)])[0].media == {
        "portrait": ("portrait",),
        "audio": ("voice",),
        "clips": ("clip", "clip-1", "clip-2"),
    }


def test_only_a_model_that_takes_a_prompt_gets_one() -> None:
    needed = wire.Model(id="new", prompt_required=True)
    refused = wire.Model(id="new", supports_prompt=False)

    assert plan([needed])[0].prompt
    assert plan([refused])[0].prompt is None


def test_every_favorite_of_a_model_is_an_example() -> None:
    for name, known in FAVORITES.items():
        found = [example.shown for example in plan([model_of(BUILT_IN[name])])]

        assert all(v.get("settings", {}) in found for v in known.get("variants", ())), name


def test_an_example_shows_its_settings_without_technical_ones() -> None:
    for example in plan(map(model_of, BUILT_IN.values())):
        assert example.shown.items() <= example.settings.items()
        assert not {"seed", "duration"} & example.shown.keys()

    first = plan([model_of(BUILT_IN["video-edit"])])[0]
    assert first.shown == {"look": "cinematic"}
    assert first.settings["resolution"] == "480p"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (2, "2"), (1.0, "1"), (0.25, "0.25"), ("9:16", "9:16")],
)
def test_a_value_is_formatted_as_a_user_types_it(value: object, text: str) -> None:
    assert format_value(value) == text
    assert format_value("navy to black") == '"navy to black"'


def test_the_title_of_an_example_has_its_caption_and_settings() -> None:
    model = wire.Model(id="new")

    assert Example(model=model, caption="A face", shown={"a": 1, "b": True}).title == (
        "A face, a=1 b=true"
    )
    assert Example(model=model, caption="A face").title == "A face"
    assert Example(model=model, shown={"a": 1}).title == "a=1"
    assert Example(model=model).title == ""
