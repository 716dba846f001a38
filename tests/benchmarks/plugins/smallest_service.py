"""The smallest service of its kind: jobs in a dictionary, done in the background; a kill loses all.

python smallest_service.py PORT FOLDER
"""

import sys
import uuid
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import BackgroundTasks, FastAPI, HTTPException
from pydantic import BaseModel

app = FastAPI()
jobs: dict[str, dict[str, Any]] = {}


class Order(BaseModel):
    prompt: str
    seed: int


def work(job: dict[str, Any], order: Order) -> None:
    from gradient import render  # beside this file, which alone does not find it

    job["outputUrl"] = str(render(order.prompt, order.seed, Path(sys.argv[2])))
    job["status"] = "completed"


@app.get("/healthz")
async def healthz():
    return {"ok": True}


@app.post("/generations", status_code=202)
async def start(order: Order, background: BackgroundTasks):
    job = {
        "id": uuid.uuid4().hex,
        "status": "processing",
        "prompt": order.prompt,
        "outputUrl": None,
    }
    jobs[job["id"]] = job
    background.add_task(work, job, order)
    return job


@app.get("/generations/{job_id}")
async def status(job_id: str):
    if job_id not in jobs:
        raise HTTPException(404)
    return jobs[job_id]


@app.get("/generations")
async def history():
    return list(jobs.values())[-50:]


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
