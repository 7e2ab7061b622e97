"""A start that waits for the run in its way to end.

It waits in this process and leaves no file, so that it is lost when the app ends.
"""

import logging
import threading
from collections.abc import Callable

from nt2vr.errors import DeviceInUseError, Nt2vrError, RunError

POLL_S = 0.5

logger = logging.getLogger(__name__)


class WaitingStart:
    """Starts a run in a thread of its own, once no other run is in its way, however that one ended.

    Attributes:
        name: of the run.
        session: says who asked for it, as `RunManager.start` takes it.
        run_id: of the run once it has started; "" before.
        error: why the start was refused when its time came; None unless it was.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], str],
        check_device: Callable[[], object],
        session: str = "",
    ) -> None:
        """Begin to wait.

        Args:
            name: of the run.
            start: starts it, and returns its id.
            check_device: raises a DeviceInUseError as long as a run is in the way.
            session: says who asks for it.
        """
        self.name = name
        self.session = session
        self.run_id = ""
        self.error: Exception | None = None
        self._start = start
        self._check_device = check_device
        self._is_taken_back = threading.Event()
        # Held during the start, so that one which is taken back has not begun.
        self._start_lock = threading.Lock()
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def is_waiting(self) -> bool:
        """Whether the run is still to start."""
        return not self.run_id and self.error is None and not self._is_taken_back.is_set()

    def take_back(self) -> None:
        """Start nothing any more; a RunError if the run has started."""
        with self._start_lock:
            if self.run_id:
                raise RunError(f"“{self.name}” has started by now. Stop it instead.")
            self._is_taken_back.set()

    def _wait(self) -> None:
        while self.is_waiting:
            self._try()
            self._is_taken_back.wait(POLL_S)

    def _try(self) -> None:
        with self._start_lock:
            if not self.is_waiting:
                return
            try:
                self._check_device()
                self.run_id = self._start()
            except DeviceInUseError:
                return
            except Exception as error:
                # Nobody may be looking now. The page shows the error, of whatever class, until
                # somebody has read it.
                is_foreseen = isinstance(error, Nt2vrError)
                logger.warning("%s could not start: %s", self.name, error, exc_info=not is_foreseen)
                self.error = error
