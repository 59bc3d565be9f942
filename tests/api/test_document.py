"""The OpenAPI document is true: whatever is sent, what comes back is what it says, and never a 5xx."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from caesura.app import create_app
from caesura.settings import Settings
from tests.api.reading import finished
from tests.api.server import Served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(create_app(Settings.load(data_dir="unused")).openapi())
