"""The environment of render processes: an allowlist of variables, without secrets.

A model may name further variables, such as the key of the remote service that renders it: only its
own jobs get them, see `kit.engines.base.Engine.environment`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

#: The system, user folders, language and time.
_SYSTEM = (
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TEMP TMP VIRTUAL_ENV CONDA_PREFIX "
    "LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH "
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERNAME USERPROFILE HOMEDRIVE HOMEPATH "
    "APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE"
)
#: Network access: proxies and certificates.
_NETWORK = (
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY "
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"
)
#: With a setting of a library that only looks like a secret.
NAMES = frozenset([*_SYSTEM.split(), "TOKENIZERS_PARALLELISM"])
#: Only for processes with network access: the URL of a proxy may contain a password.
NETWORK_NAMES = frozenset(_NETWORK.split())
#: Prefixes: of locale, Python, threads and memory, GPUs, neural libraries and their caches,
#: codecs and fonts.
_PREFIXES = (
    "LC_ PYTHON XDG_ OMP_ GOMP_ KMP_ OPENBLAS_ MKL_ BLIS_ VECLIB_ NUMEXPR_ MALLOC_ "
    "CUDA_ CUDNN_ CUBLAS_ NCCL_ NVIDIA_ HIP_ HSA_ ROCM_ ROCR_ MIOPEN_ AMD_ ONEAPI_ SYCL_ ZE_ "
    "PYTORCH_ TORCH TRITON_ XLA_ HF_ HUGGINGFACE_ TRANSFORMERS_ DIFFUSERS_ ACCELERATE_ "
    "SAFETENSORS_ OPENCV_ SVT_ FONTCONFIG_"
)
PREFIXES = tuple(_PREFIXES.split())
#: Variables with an allowed prefix that are secrets, such as ``HF_TOKEN``.
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH")


def allowed_variables(environ: Mapping[str, str], *, network: bool = True) -> dict[str, str]:
    """Return the variables for all render processes, or for those without network access.

    Examples
    --------
    >>> [*allowed_variables({"PATH": "/bin", "http_proxy": "http://a:80", "HF_HOME": "/hf"})]
    ['PATH', 'http_proxy', 'HF_HOME']
    >>> allowed_variables({"OPENAI_API_KEY": "sk", "HF_TOKEN": "hf", "KIT_DATA": "/d"})
    {}
    """
    names, found = NAMES | NETWORK_NAMES if network else NAMES, {}
    for name, value in environ.items():
        upper = name.upper()
        if upper in names or (upper.startswith(PREFIXES) and not _SECRET.search(upper)):
            found[name] = value
    return found


def pick_variables(names: Iterable[str]) -> dict[str, str]:
    """Return those of the named variables that are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


@contextmanager
def set_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for one job: the next one in this process may be of another model."""
    before = pick_variables(variables)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)
