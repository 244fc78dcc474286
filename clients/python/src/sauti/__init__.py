"""A client for Sauti: Swahili text to speech and speech to text. Nothing but Python's standard library."""

from .client import Sauti
from .errors import (
    APIError,
    AuthenticationError,
    ConflictError,
    ConnectionFailed,
    InsufficientBalance,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    RateLimited,
    SautiError,
    ServerError,
    StreamBroken,
    TooLarge,
    UnsupportedMedia,
)
from .live import LiveTranscription
from .models import (
    Alternative,
    Balance,
    Charge,
    ExpectedAnswer,
    Final,
    Limits,
    Mark,
    NotUnderstood,
    Partial,
    Quote,
    Segment,
    Speech,
    SpeechPiece,
    TimedSpeech,
    Transcript,
    TranscriptPiece,
    Usage,
    Voice,
    Word,
)

__version__ = "0.1.0"
__all__ = [name for name in dir() if name[0].isupper()]
