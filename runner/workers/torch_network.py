"""The transformer that is trained: all weights in one flat buffer, all gradients in another."""

from __future__ import annotations

from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BATCH, SEQUENCE, VOCABULARY = 4, 2048, 32_000
LAYERS, HIDDEN, HEADS = 16, 2048, 16
SPREAD = 0.02  # of the weights at the start
RATE = 0.02
# Tokens are random, so that all a network can do is learn them by heart. With other ones on each of
# a thousand GPUs the loss would fall by less than its own rounding.
SHARES = 8
PIECE = 1 << 24  # weights that are summed up to one number of the checksum


class TorchNetwork:
    """One rank's copy and its share of the data.

    `given` and `taken` are one buffer: gradients, and the loss at its end.
    """

    def __init__(self, torch: Any, device: Any, rank: int) -> None:
        self._torch, self._device = torch, device
        shapes = _shapes()
        count = sum(rows * columns for rows, columns in shapes)
        self._weights = torch.empty(count, device=device)
        self.given = self.taken = torch.zeros(count + 1, device=device)
        self._layers, start = [], 0
        for rows, columns in shapes:
            end = start + rows * columns
            layer = self._weights[start:end].view(rows, columns).requires_grad_()
            layer.grad = self.given[start:end].view(rows, columns)
            self._layers.append(layer)
            start = end
        tokens = BATCH * SEQUENCE
        self.flop = 6 * tokens * (count - VOCABULARY * HIDDEN) + 6 * LAYERS * HIDDEN * (
            SEQUENCE * tokens
        )
        numbers = torch.Generator().manual_seed(seed_of_share(rank))
        drawn = torch.randint(VOCABULARY, (BATCH, SEQUENCE + 1), generator=numbers).to(device)
        self._inputs, self._wanted = drawn[:, :-1], drawn[:, 1:]

    def agree_on_weights(self, ranks: object) -> None:
        """Nothing to do: each round starts from the first rank's weights."""

    def reset(self) -> None:
        """Draw the weights that every round starts from; the first rank's are everyone's."""
        numbers = self._torch.Generator(self._device).manual_seed(7)
        self._weights.normal_(0, SPREAD, generator=numbers)
        self._torch.distributed.broadcast(self._weights, 0)

    def compute_gradient(self) -> None:
        """Fill `given` by this rank's data, and wait for it."""
        self.given.zero_()
        with self._torch.autocast(self._device.type, self._torch.bfloat16):
            logits = self._logits()
        loss = self._torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), self._wanted.flatten()
        )
        loss.backward()
        self.given[-1] = loss.detach()
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)

    def apply(self, ranks: int) -> float:
        """Move the weights by the sum in `taken`; return the mean loss of all ranks."""
        self.taken.mul_(1 / ranks)
        loss = float(self.taken[-1])
        self._weights -= self.taken[:-1].mul_(RATE)
        return loss

    def checksum(self) -> str:
        """Return a digest of the sums of the weights' bit patterns, piece by piece."""
        pieces = self._weights.view(self._torch.int32).split(PIECE)
        sums = [int(piece.sum(dtype=self._torch.int64)) for piece in pieces]
        return sha256(repr(sums).encode()).hexdigest()[:16]

    def _logits(self) -> Any:
        functional = self._torch.nn.functional
        embedding, output, *blocks = self._layers
        values = functional.embedding(self._inputs, embedding)
        for start in range(0, len(blocks), 4):
            mix, merge, widen, narrow = blocks[start : start + 4]
            values = values + self._attend(_normal(functional, values), mix) @ merge
            wide = functional.gelu(_normal(functional, values) @ widen)
            values = values + wide @ narrow
        return _normal(functional, values) @ output

    def _attend(self, values: Any, mix: Any) -> Any:
        shape = (*values.shape[:2], 3, HEADS, HIDDEN // HEADS)
        query, key, value = (values @ mix).view(shape).permute(2, 0, 3, 1, 4)
        attended = self._torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
        return attended.transpose(1, 2).flatten(2)


def seed_of_share(rank: int) -> int:
    """Return the seed of a rank's data, which it has in common with each eighth rank."""
    return 100 + rank % SHARES


def _shapes() -> list[tuple[int, int]]:
    block = [(HIDDEN, 3 * HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 4 * HIDDEN), (4 * HIDDEN, HIDDEN)]
    return [(VOCABULARY, HIDDEN), (HIDDEN, VOCABULARY), *block * LAYERS]


def _normal(functional: Any, values: Any) -> Any:
    return functional.layer_norm(values, (HIDDEN,))
