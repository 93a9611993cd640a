"""TuFT 0.2.2 without a GPU: its own source as it is, and two plugins of the libraries that it stands on.

TuFT asks for CUDA in two places. Its trainer sets PyTorch's statistics of GPU memory back before every pass, which
raises where there is no GPU; and its sampler names a worker of vLLM that is made for GPUs.
"""


def no_gpu() -> None:
    """PyTorch, imported: where there is no GPU, there are no statistics of its memory to set back."""
    import torch

    if not torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats = lambda device=None: None


def platform() -> str:
    """vLLM, looking for the machine that it is on."""
    return "tuft_on_cpu.platform.TuFTCpuPlatform"
