"""An answer as files: JSON and CSV."""

import io
import json
from base64 import b64encode

from nt2vr.files import SafeCsv
from nt2vr.search.answers import Answer
from nt2vr.ui.view import View


def downloads(answer: Answer) -> View:
    """Return the address of each file, which holds all of its content."""
    as_json = json.dumps(answer.as_dict(), ensure_ascii=False)
    return {
        "json": _data_address("application/json", as_json),
        "csv": _data_address("text/csv", _csv(answer)),
    }


def _csv(answer: Answer) -> str:
    """Write one row per clip; the windows of a hit share its rank, score and verdict."""
    table = io.StringIO()
    writer = SafeCsv(table)
    writer.writerow(("system", "rank", "video_id", "score", "verdict"))
    for ranking in answer.rankings:
        for hit in ranking.hits:
            windows = [moment.video_id for moment in hit.moments]
            for video_id in windows or [hit.video_id]:
                verdict = hit.verdict or ""
                writer.writerow((ranking.system.name, hit.rank, video_id, hit.score, verdict))
    return table.getvalue()


def _data_address(media_type: str, text: str) -> str:
    # Each search writes both, and percent encoding takes a hundred times as long.
    return f"data:{media_type};charset=utf-8;base64,{b64encode(text.encode()).decode()}"
