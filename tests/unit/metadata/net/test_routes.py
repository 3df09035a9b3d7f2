import pytest

from headrace.links.ends import Address
from headrace.metadata.net.routes import LEADERLESS_MS, Route, Routes

ONE, TWO, THREE = (Address(f"c{it}", 9093) for it in (1, 2, 3))


@pytest.fixture
def routes():
    return Routes([ONE, TWO, THREE], has_local=False)


def test_requests_go_to_the_leader_that_is_named(routes):
    assert routes.route == Route(ONE)

    assert routes.redirect(THREE, 0.0)

    assert routes.route == Route(THREE)
    assert not routes.redirect(THREE, 0.0)


def test_a_leader_that_is_not_reached_gets_requests_through_who_names_it(routes):
    routes.failed(routes.route, 0.0)
    assert routes.route == Route(TWO), "nobody says yet that it leads"

    assert routes.redirect(ONE, 0.0)

    assert routes.route == Route(TWO, leader=ONE)
    assert not routes.redirect(ONE, 0.0), "who passes requests on says so again"


def test_one_that_does_not_pass_requests_on_is_left_for_the_next(routes):
    routes.failed(routes.route, 0.0)
    routes.redirect(ONE, 0.0)

    routes.failed(routes.route, 0.0)
    assert routes.route == Route(THREE)
    routes.redirect(ONE, 0.0)
    assert routes.route == Route(THREE, leader=ONE)

    routes.failed(routes.route, 0.0)
    assert routes.route == Route(TWO), "it is reached, and may pass requests on by now"


def test_another_leader_is_asked_itself(routes):
    routes.failed(routes.route, 0.0)
    routes.redirect(ONE, 0.0)

    routes.redirect(THREE, 0.0)

    assert routes.route == Route(THREE)


def test_who_passes_requests_on_and_then_leads_is_asked_itself(routes):
    routes.failed(routes.route, 0.0)
    routes.redirect(ONE, 0.0)
    routes.leaderless(1.0)
    routes.redirect(TWO, 1.0)

    assert routes.route == Route(TWO)


def test_a_probe_that_reaches_the_leader_ends_the_detour(routes):
    routes.failed(routes.route, 0.0)
    routes.redirect(ONE, 0.0)

    routes.reached(ONE, 0.0)

    assert routes.route == Route(ONE)
    routes.redirect(TWO, 0.0)
    assert routes.redirect(ONE, 0.0)
    assert routes.route == Route(ONE), "it counts as reached"


def test_a_late_probe_does_not_lead_back_to_an_old_leader(routes):
    routes.failed(routes.route, 0.0)
    routes.redirect(ONE, 0.0)
    routes.redirect(THREE, 0.0)

    routes.reached(ONE, 0.0)

    assert routes.route == Route(THREE)


def test_many_requests_that_fail_at_once_leave_one_controller(routes):
    route = routes.route
    for _ in range(5):
        routes.failed(route, 0.0)

    assert routes.route == Route(TWO)


def test_what_was_asked_before_a_detour_says_nothing_of_the_leader_after_it(routes):
    early = routes.route
    routes.failed(early, 0.0)
    routes.redirect(ONE, 0.0)
    routes.reached(ONE, 0.0)

    routes.failed(early, 0.0)

    assert routes.route == Route(ONE)
    routes.redirect(TWO, 0.0)
    routes.redirect(ONE, 0.0)
    assert routes.route == Route(ONE), "it counts as reached"


def test_when_nobody_is_reached_the_search_begins_again(routes):
    asked = []
    for _ in range(6):
        asked.append(routes.route.target)
        routes.failed(routes.route, 0.0)

    assert asked == [ONE, TWO, THREE, ONE, TWO, THREE]


def test_one_that_knows_no_leader_stays_the_target_for_a_while(routes):
    routes.leaderless(0.0)
    routes.leaderless(LEADERLESS_MS / 1000 - 0.001)
    assert routes.route == Route(TWO)

    routes.leaderless(LEADERLESS_MS / 1000)
    assert routes.route == Route(THREE)


def test_the_controller_in_this_process_passes_requests_on_too():
    routes = Routes([ONE], has_local=True)
    assert routes.route == Route(None)
    routes.redirect(ONE, 0.0)
    routes.failed(routes.route, 0.0)

    routes.redirect(ONE, 0.0)

    assert routes.route == Route(None, leader=ONE)


def test_a_controller_that_is_no_member_any_more_is_forgotten(routes):
    routes = Routes([ONE], has_local=False)
    routes.set_members({2: TWO, 3: THREE})
    routes.redirect(TWO, 0.0)
    routes.failed(routes.route, 0.0)

    routes.set_members({3: THREE})
    routes.redirect(TWO, 0.0)

    assert routes.route == Route(TWO), "it may have been added again"
