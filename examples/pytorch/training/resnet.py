"""ResNet-50, with a blocks' list that makes smaller ones too."""

from torch import nn


def convolution(inputs, outputs, size, stride=1):
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            convolution(inputs, width, 1),
            nn.ReLU(inplace=True),
            convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            convolution(width, outputs, 1),
        )
        isSame = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if isSame else convolution(inputs, outputs, 1, stride)
        self.last = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.last(self.body(x) + self.shortcut(x))


class ResNet(nn.Sequential):
    """Images [batch, 3, height, width] to scores [batch, classes]."""

    def __init__(self, classes=1000, width=64, blocks=(3, 4, 6, 3)):
        layers = [convolution(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
        inputs = width
        for stage, count in enumerate(blocks):
            inner = width * 2**stage
            for block in range(count):
                layers.append(Bottleneck(inputs, inner, 2 if stage > 0 and block == 0 else 1))
                inputs = 4 * inner
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
