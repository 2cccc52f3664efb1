"""Wrong functions that stand in place of many a right one."""

from mutants.fault import Function


def nothing_is_done(_right: Function) -> Function:
    return lambda *_args: None


def always(_right: Function) -> Function:
    return lambda *_args: True


def never(_right: Function) -> Function:
    return lambda *_args: False


def nothing(_right: Function) -> Function:
    return lambda *_args: []
