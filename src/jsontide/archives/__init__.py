"""Archives of recordings: what was asked of each in, tables, a report and comparisons out; on one machine or many."""

from typing import TYPE_CHECKING

from jsontide._public import lazily

if TYPE_CHECKING:
    from jsontide.archives.batch import BatchProgress, BatchResult, map_recordings, run_shard
    from jsontide.archives.comparison import Comparison, Quantiles, Rate, RateChange, compare
    from jsontide.archives.engines import BatchError, Engine, LocalEngine, RayEngine
    from jsontide.archives.rows import Job, JobName, RecordingJob
    from jsontide.archives.shards import Member, Part, Shard, SourceError, plan, read_recording
else:
    __getattr__ = lazily(
        __name__,
        "jsontide.archives.shards",
        "jsontide.archives.rows",
        "jsontide.archives.engines",
        "jsontide.archives.batch",
        "jsontide.archives.comparison",
    )

__all__ = [
    "BatchError",
    "BatchProgress",
    "BatchResult",
    "Comparison",
    "Engine",
    "Job",
    "JobName",
    "LocalEngine",
    "Member",
    "Part",
    "Quantiles",
    "Rate",
    "RateChange",
    "RayEngine",
    "RecordingJob",
    "Shard",
    "SourceError",
    "compare",
    "map_recordings",
    "plan",
    "read_recording",
    "run_shard",
]
