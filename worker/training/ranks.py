"""What the ranks of a run agree on: none may stop, wait or go on alone, or the others would wait for it for ever."""

import torch


def highest(mine: int) -> int:
    """The highest of what each rank says; `mine`, where there is one rank. All ranks must ask."""
    if not torch.distributed.is_initialized():
        return mine
    device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    said = torch.tensor([mine], device=device)
    torch.distributed.all_reduce(said, op=torch.distributed.ReduceOp.MAX)
    return int(said.item())
