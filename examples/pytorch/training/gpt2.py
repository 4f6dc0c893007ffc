"""GPT-2, in the parts that parallel training takes it apart into. `GPT2()` has the small one's sizes, and bytes for words."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.head = width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        # -1: of the heads, those that this rank has, where tensor parallelism shares them out.
        q, k, v = (layer(x).unflatten(-1, (-1, self.head)).transpose(1, 2) for layer in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads, feed_forward=FeedForward):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.feed_forward = nn.LayerNorm(width), feed_forward(width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class Embedding(nn.Module):
    def __init__(self, words, length, width):
        super().__init__()
        self.word, self.position = nn.Embedding(words, width), nn.Embedding(length, width)

    def forward(self, words):
        return self.word(words) + self.position(torch.arange(words.shape[1], device=words.device))


class Head(nn.Module):
    """Scores of the next word. Its weights aren't the embedding's, which in a pipeline is on another rank."""

    def __init__(self, words, width):
        super().__init__()
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        return self.scores(self.norm(x))


class GPT2(nn.Module):
    """Words [batch, length] to scores [batch, length, words]: `layers` are an embedding, the blocks, a head."""

    def __init__(self, layers=12, width=768, heads=12, words=256, length=1024, feed_forward=FeedForward):
        super().__init__()
        blocks = [Block(width, heads, feed_forward) for _ in range(layers)]
        self.layers = nn.Sequential(Embedding(words, length, width), *blocks, Head(words, width))

    @property
    def blocks(self):
        return self.layers[1:-1]

    def forward(self, words):
        return self.layers(words)


def loss_of(scores, targets):
    """Cross-entropy of scores [batch, length, words] and targets [batch, length]."""
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())
