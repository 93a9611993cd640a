"""vLLM's worker for CPUs, with what TuFT adds to that for GPUs."""

from tuft.backends.vllm_worker import TuFTGPUWorker
from vllm.v1.worker.cpu_worker import CPUWorker


class TuFTCpuWorker(CPUWorker):
    apply_patches = TuFTGPUWorker.apply_patches
