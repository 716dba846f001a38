"""Rate limits, on a clock that a test advances."""

from kit.service.http.rate_limits import RateLimiter


class Clock:
    """A clock that a test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def hit_repeatedly(limiter: RateLimiter, times: int, key: str = "key") -> list[float]:
    return [limiter.hit("any", key).wait for _ in range(times)]


def test_all_requests_of_a_minute_may_be_sent_at_once() -> None:
    limiter = RateLimiter({"any": 60}, clock=Clock())

    assert hit_repeatedly(limiter, 60) == [0.0] * 60
    assert limiter.hit("any", "key").wait == 1.0


def test_the_next_request_is_allowed_after_retry_after() -> None:
    clock = Clock()
    limiter = RateLimiter({"any": 4}, clock=clock)
    hit_repeatedly(limiter, 4)
    verdict = limiter.hit("any", "key")
    assert (verdict.wait, verdict.headers()["Retry-After"]) == (15.0, "15")
    clock.now += 14.5
    assert limiter.hit("any", "key").headers()["Retry-After"] == "1"
    clock.now += 0.5

    assert hit_repeatedly(limiter, 2) == [0.0, 15.0]


def test_a_refused_request_costs_nothing() -> None:
    clock = Clock()
    limiter = RateLimiter({"any": 2}, clock=clock)
    hit_repeatedly(limiter, 50)
    clock.now += 30

    assert hit_repeatedly(limiter, 1) == [0.0]


def test_at_most_twice_the_rate_is_allowed_in_a_minute() -> None:
    clock = Clock()
    limiter = RateLimiter({"any": 60}, clock=clock)
    passed = 0
    for _ in range(600):
        passed += limiter.hit("any", "key").wait == 0
        clock.now += 0.1

    assert 60 < passed <= 120


def test_keys_and_classes_are_counted_separately() -> None:
    limiter = RateLimiter({"any": 1, "other": 1}, clock=Clock())
    hit_repeatedly(limiter, 1)

    assert hit_repeatedly(limiter, 1, "second") == [0.0]
    assert limiter.hit("other", "key").wait == 0
    assert limiter.hit("any", "key").wait > 0


def test_headers_count_down_and_recover() -> None:
    clock = Clock()
    limiter = RateLimiter({"any": 3}, clock=clock)
    sent = [limiter.hit("any", "key").headers()["RateLimit"] for _ in range(3)]
    assert sent == [f'"default";r={left};t={after}' for left, after in ((2, 20), (1, 40), (0, 60))]
    clock.now += 60

    assert limiter.hit("any", "key").remaining == 2


def test_idle_keys_are_dropped() -> None:
    clock = Clock()
    limiter = RateLimiter({"any": 60}, clock=clock)
    for number in range(10_000):
        limiter.hit("any", str(number))
    clock.now += 120
    limiter.hit("any", "new")

    assert len(limiter.due) == 1
