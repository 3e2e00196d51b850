"""Whose files the embedded services own, and where those files may stand.

PostgreSQL refuses to run as root. Started by root, it runs as `nobody`, which every system has; no user is added. Where
`nobody` may not enter a folder (a checkout below /root), what it needs stands below /var/lib/muninn instead. No
permission of an existing folder is changed.
"""

import hashlib
import os
import pwd
import stat
from pathlib import Path

from bot.errors import ServiceFault

ROOTS_FOLDER = Path("/var/lib/muninn")
# sun_path is 108 bytes on Linux and 104 on macOS, the closing zero included.
SOCKET_PATH_MOST = 103


def unprivileged_account() -> pwd.struct_passwd | None:
    """The account that PostgreSQL runs as; None is the one that we run as ourselves."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def roots_folder() -> Path:
    """Root's own folder for what must not stand below a closed one; made when it is first needed."""
    ROOTS_FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    return ROOTS_FOLDER


def short_folder(path: Path, account: pwd.struct_passwd | None) -> Path:
    """A private folder in /tmp for the sockets of `path`, whose own name is too long for one."""
    owner = account.pw_uid if account else os.geteuid()
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    folder = Path("/tmp") / f"muninn-{owner}-{digest}"  # noqa: S108 (its owner and mode are checked below)
    try:
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, account.pw_gid if account else -1)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
            raise ServiceFault(
                f"{folder} is not Muninn's own folder; remove it, "
                "or set MUNINN_DATA_DIR to a folder with a shorter name."
            ) from None
    return folder


def _allows(entry: Path, account: pwd.struct_passwd, bits: int) -> bool:
    """Whether the mode of one folder or file gives the account `bits` (4 read, 1 enter or run)."""
    found = entry.stat()
    if found.st_uid == account.pw_uid:
        granted = found.st_mode >> 6
    elif found.st_gid == account.pw_gid:
        granted = found.st_mode >> 3
    else:
        granted = found.st_mode
    return granted & bits == bits


def may_enter(folder: Path, account: pwd.struct_passwd) -> bool:
    """Whether the account gets into a folder, by the modes of it and of all above it."""
    resolved = folder.resolve()
    return all(_allows(entry, account, 1) for entry in (resolved, *resolved.parents))


def may_read(program: Path, account: pwd.struct_passwd) -> bool:
    """Whether the account may read and run a program."""
    return may_enter(program.parent, account) and _allows(program, account, 5)


def open_to_all(folder: Path) -> None:
    """Let everybody read a folder of our own that holds no secrets."""
    folder.chmod(0o755)
    for entry in folder.rglob("*"):
        if not entry.is_symlink():
            entry.chmod(0o755 if entry.is_dir() or entry.stat().st_mode & 0o100 else 0o644)
