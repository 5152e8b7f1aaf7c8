"""The service and its own OpenAPI document agree, on requests that nobody thought of."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from .service_files import write_files
from .service_process import WRITE, Service, running
from .test_server_access import NEEDS, token_file

CHECKS: list[Any] = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
    checks.ignored_auth,
]

KNOWN = {"name": "reviewer", "file": "turns.jsonl"}
"""Path parameters that lead to something."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Service]]:
    """Services with tokens, one with a store and one without."""
    folder = tmp_path_factory.mktemp("openapi")
    tokens = ("--token-file", str(token_file(folder)), "--quiet")
    with ExitStack() as stack:
        yield {
            "with": stack.enter_context(
                running(
                    write_files(folder / "with"),
                    options=(*tokens, "--store", f"file:{folder}/store"),
                    token=WRITE,
                )
            ),
            "without": stack.enter_context(
                running(write_files(folder / "without"), options=tokens, token=WRITE)
            ),
        }


@cache
def document(address: str) -> Any:
    """The document of a service."""
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.mark.parametrize("store", ["with", "without"])
@pytest.mark.parametrize("operation", NEEDS)
def test_holds_to_its_document(services: dict[str, Service], operation: str, store: str) -> None:
    """No answer fails the service, and each is one that the document describes."""
    service = services[store]
    address = f"http://127.0.0.1:{service.port}"
    method, path = operation.split(" ")
    described = document(address)[path][method]
    known = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in path}
    given_parts: list[dict[str, Any]] = [{}, {"path_parameters": known}] if known else [{}]
    cases = st.one_of(
        *(described.as_strategy(GenerationMode.POSITIVE, **part) for part in given_parts),
        *(described.as_strategy(GenerationMode.NEGATIVE) for _ in described.body),
    )

    @settings(
        max_examples=20 if described.body else 5,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def hold(case: Any) -> None:
        headers = {"Authorization": f"Bearer {WRITE}"}
        case.call_and_validate(address, headers=headers, checks=CHECKS)

    hold()
    assert service.get("/healthz").status_code == 200
    assert service.log().count("Serving") == 1
    assert "failed" not in service.log()
