from bench.sampling import Pair, alternate


def test_the_sides_take_turns_and_who_goes_first_changes() -> None:
    order: list[str] = []

    def side(name: str, value: float) -> float:
        order.append(name)
        return value

    pair = alternate(lambda: side("p", 3.0), lambda: side("r", 2.0), rounds=3)

    assert order == ["p", "r", "r", "p", "p", "r"]
    assert pair == Pair((3.0, 3.0, 3.0), (2.0, 2.0, 2.0))


def test_the_ratio_is_that_of_the_medians() -> None:
    pair = Pair(product=(3.0, 4.0, 90.0), reference=(2.0, 2.0, 1.0))

    assert pair.ratio == 2.0
    assert pair.rounds == "ratios of the 3 rounds 1.50, 2.00, 90.00"
