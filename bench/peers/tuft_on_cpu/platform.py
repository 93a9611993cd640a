"""vLLM's CPU, for an engine that asks for TuFT's worker for GPUs and for bfloat16."""

import torch
from vllm.platforms.cpu import CpuPlatform


class TuFTCpuPlatform(CpuPlatform):
    @classmethod
    def check_and_update_config(cls, vllm_config) -> None:
        vllm_config.parallel_config.worker_cls = "tuft_on_cpu.worker.TuFTCpuWorker"
        # TuFT has no setting for it; its trainer computes in the 32 bits of the model
        vllm_config.model_config.dtype = torch.float32
        super().check_and_update_config(vllm_config)
