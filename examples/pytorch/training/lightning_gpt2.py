"""GPT-2 by Lightning, whose strategy is told the backend's name.

    torchrun --nproc-per-node 2 examples/pytorch/training/lightning_gpt2.py
"""

import os

import lightning
import torch
from gpt2 import GPT2, loss_of
from lightning.pytorch.strategies import DDPStrategy
from start import Text, options_of, tell
from torch.utils.data import DataLoader, TensorDataset

import dfccl_torch  # noqa: F401: makes the backend known; torch 2.14 finds it by itself


class Model(lightning.LightningModule):
    def __init__(self, options):
        super().__init__()
        self.model, self.rate = GPT2(options.layers, options.width), options.rate

    def training_step(self, batch, index):
        inputs, targets = batch
        loss = loss_of(self.model(inputs), targets)
        tell(index + 1, loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.rate)


def main():
    options = options_of("GPT-2 by Lightning", text="", layers=12, width=768, batch=4, rate=3e-4)
    ranks = int(os.environ["WORLD_SIZE"])
    torch.manual_seed(7)
    pieces = TensorDataset(*Text(options.text).batch(options.steps * options.batch * ranks, seed=1))
    trainer = lightning.Trainer(
        accelerator=options.device,
        devices=ranks,
        strategy=DDPStrategy(process_group_backend=options.backend),
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Model(options), DataLoader(pieces, options.batch))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
