"""How a page calls its server functions: POST /gradio_api/component_server/, in place of Gradio's own route.

Gradio's makes a session for whatever name a request gives itself: 45 KB, and 7 ms, to look a component up in it that no
session of ours ever changes; and it takes a request that is no call for a fault of its own (500). Here a call is found
in a table, strictly read JSON is handed to it, and nothing is kept.
"""

import re
from collections.abc import Callable
from typing import Any

import gradio as gr
import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

PATHS = ("/gradio_api/component_server", "/gradio_api/component_server/")
HALF_A_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")  # of a surrogate pair: in no pair, where the body can't be read
Functions = dict[tuple[int, str], Callable[[Any], Response]]


def function_table(blocks: gr.Blocks) -> Functions:
    """Every server function of every part of every page, by the part's number and its own name."""
    return {
        (number, function.__name__): function
        for number, block in blocks.blocks.items()
        for function in getattr(block, "server_fns", ())
    }


async def call(request: Request, table: Functions) -> Response:
    """Call the function that the body names, in a thread. What it is handed is plain: text that can be written down
    (no half of a surrogate pair), finite numbers, no more than some levels deep."""
    sent = await request.body()
    try:
        body = orjson.loads(sent)
    except ValueError:
        if HALF_A_CHARACTER.search(sent):  # a person can paste that: it is said on the page
            return JSONResponse({"sentence": "This text has half of a character, which cannot be saved. Remove it."})
        return PlainTextResponse("This is not JSON.\n", status_code=400)
    if not isinstance(body, dict):
        return PlainTextResponse("A call is a JSON object.\n", status_code=400)
    number, name = body.get("component_id"), body.get("fn_name")
    function = table.get((number, name)) if isinstance(number, int) and isinstance(name, str) else None
    if function is None:
        return PlainTextResponse("There is no such function. Load the page again.\n", status_code=404)
    return await run_in_threadpool(function, body.get("data"))
