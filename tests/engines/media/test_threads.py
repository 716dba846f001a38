import cv2
import pytest

from kit.engines.media.threads import one_thread


def test_opencv_has_its_threads_back_when_the_last_work_ends() -> None:
    before = cv2.getNumThreads()
    cv2.setNumThreads(3)
    try:
        with one_thread():
            with pytest.raises(RuntimeError), one_thread():
                raise RuntimeError
            assert cv2.getNumThreads() == 1
        assert cv2.getNumThreads() == 3
    finally:
        cv2.setNumThreads(before)
