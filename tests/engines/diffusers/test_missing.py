"""If the libraries of local pipelines are not installed, an error names the extra to install."""

import subprocess
import sys
from pathlib import Path

_WITHOUT = """
import sys
from pathlib import Path
for name in ("torch", "diffusers", "transformers", "huggingface_hub"):
    sys.modules[name] = None  # as if it were not there
from kit.engines.diffusers.engine import diffusers as engines
from kit.errors import ConfigError
for more in ({"path": PATH}, {"hub_id": "a/b"}, {"hub_id": "a/b", "pipeline": "FluxPipeline"}):
    try:
        engines({"id": "a", "price": 1, **more}, Path(), False)
    except ConfigError as error:
        print(error)
"""


def test_without_the_libraries_an_error_names_the_extra_to_install(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text('{"_class_name": "FluxPipeline"}')
    script = _WITHOUT.replace("PATH", repr(str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stdout.count("creative-studio-kit[diffusers]") == 3, done.stdout + done.stderr
