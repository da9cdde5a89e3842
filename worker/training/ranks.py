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


def part() -> None:
    """End what connects this rank with the others, after the last that they do together. All ranks must ask; a rank
    that ends with its connections open may crash on its way out (torch's "Shutdown" in the guide to distributed)."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
