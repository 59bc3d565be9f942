"""The OpenAPI page. Its files are part of the server, so it works without a network."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.requests import Request
from starlette.routing import Route

from caesura.http.headers import DOCS

_FILES = f"{DOCS}/files"


def install(app: FastAPI, root: str = "") -> None:
    page = get_swagger_ui_html(
        openapi_url=root + (app.openapi_url or "/openapi.json"),
        title=app.title,
        swagger_js_url=f"{root}{_FILES}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{_FILES}/swagger-ui.css",
        swagger_favicon_url=f"{root}{_FILES}/favicon.png",
    )

    async def docs(request: Request) -> HTMLResponse:
        return page

    route = Route(DOCS, docs, include_in_schema=False)
    route.methods = {"GET"}
    app.router.routes.append(route)
    app.mount(_FILES, StaticFiles(packages=[("fastapi_offline", "static")]), name="docs")
