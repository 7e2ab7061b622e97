"""An answer as files: JSON and CSV."""

import io
import json
from urllib.parse import quote

from nt2vr.files import SafeCsv
from nt2vr.search.answers import Answer


def downloads(answer: Answer) -> dict[str, str]:
    table = io.StringIO()
    writer = SafeCsv(table)
    writer.writerow(("system", "rank", "video_id", "score", "verdict"))
    for ranking in answer.rankings:
        for hit in ranking.hits:
            for name in [moment.video_id for moment in hit.moments] or [hit.video_id]:
                writer.writerow((ranking.system.name, hit.rank, name, hit.score, hit.verdict or ""))
    as_json = json.dumps(answer.as_dict(), indent=1, ensure_ascii=False)
    files = (("json", "application/json", as_json), ("csv", "text/csv", table.getvalue()))
    return {name: f"data:{kind};charset=utf-8,{quote(text)}" for name, kind, text in files}
