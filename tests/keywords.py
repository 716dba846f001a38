"""Mistyped keywords that mypy finds: it reports each unused comment here.

No test runs this. `kit.mypy` knows the parameters of a built-in model whose id is a literal; those
of other models are known at run time only, where a typo is refused before anything is sent.
"""

from pathlib import Path

from kit.studio import AsyncStudio, Studio


def filters(studio: Studio) -> None:
    studio.history.frame(since="2026-01-01", asset_type="video", created_before="2026-02-01")
    studio.history.frame(stauts="failed")  # type: ignore[call-arg]
    studio.history.frame(status=7)  # type: ignore[arg-type]
    studio.history.list(5, asset_type="image")
    studio.history.list(modle_id="poster")  # type: ignore[call-arg]
    studio.history.table(model=["poster", "drift"])
    studio.history.table(modle="poster")  # type: ignore[call-arg]
    studio.history.export(Path("all.csv"), sicne="2026-01-01")  # type: ignore[call-arg]


def calls(studio: Studio) -> None:
    studio.scripts.write("SPACE", "A title", use_hok=True)  # type: ignore[call-arg]
    studio.costs.by("model", sicne="2026-01-01")  # type: ignore[call-arg]
    studio.costs.forecast(28, timezon="UTC")  # type: ignore[call-arg]
    studio.generate("poster", "a lake", again="yes")  # type: ignore[call-overload]


def parameters(studio: Studio, model: str) -> None:
    studio.generate("poster", "a lake", seed=7, palette="dusk")
    studio.generate("poster", "a lake", sede=7)  # type: ignore[call-overload]
    studio.generate("poster", "a lake", n=2, sede=7)  # type: ignore[call-overload]
    studio.estimate(model="poster", prompt="a lake", sede=7)  # type: ignore[call-arg]
    studio.start("animate", image="cat.png", media=None)
    studio.start("animate", imgae="cat.png")  # type: ignore[call-arg]
    studio.form("poster", sede=7)  # type: ignore[call-arg]
    studio.sweep("poster", ["a lake", "a fox"], seed=range(3))
    studio.sweep("poster", "a lake", sede=range(3))  # type: ignore[call-arg]
    studio.generate("theirs", "a lake", anything=7)
    studio.generate(model, "a lake", anything=7)
    studio.generate("poster", "a lake", parameters={"sede": 7})


async def async_calls(studio: AsyncStudio) -> None:
    await studio.form("poster", sede=7)  # type: ignore[call-arg]
    await studio.sweep("poster", "a lake", sede=range(3))  # type: ignore[call-arg]
