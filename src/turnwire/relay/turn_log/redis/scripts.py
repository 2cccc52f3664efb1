"""What Redis does with the keys of a chat in one step, as Lua.

A script for "each chat" takes several chats in one call, in the order of their keys, since one
call for all running turns costs a tenth of a call for each. A cluster gets one chat a call: its
chats are on different nodes. A script that is sent twice does no harm: an entry has an index, a
turn and a message have an id. So a call whose answer was lost can be sent again.

The arguments come as one list in MessagePack, but for bytes: those follow, and are `false` in it.
The answers of the script that runs most go back in MessagePack too.
"""

import hashlib
from typing import Final

from msgspec import Struct

CHANNEL: Final = "turnwire:process:"
"""Before the id of a process: the channel of its hints."""

TO_READERS: Final = "r"
TO_WRITER: Final = "w"
"""How a hint begins. The key of a chat follows: it has more for its readers, or for its writer."""

PARTS: Final = ("lease", "turn", "entries", "readers", "claim", "inbox", "replies", "session")
"""The keys of one chat.

`lease` holds the id of the running turn, and expires with its process. `turn` is a hash about the
last turn, and `entries` is a list of its frames, without the first `base` ones. `readers` are the
processes that read it. `inbox` holds messages to the process that runs it, `replies` its replies.
`claim` is the hash of a turn that has the lease and has not begun. It becomes `turn` when it does.
If it never does, or its process dies, `turn` is what it was. `session` is the agent's own id of the
chat's session.
"""

_HEAD: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local values = cmsgpack.unpack(ARGV[1])
local at = 1
for index = 1, #values do
  if values[index] == false then
    at = at + 1
    values[index] = ARGV[at]
  end
end
at = 0
local function take()
  at = at + 1
  return values[at]
end
local function hint(kind, chat, process)
  redis.call('PUBLISH', 'turnwire:process:' .. process, kind .. chat)
end
local function hint_readers(chat, readers)
  local found = redis.call('ZRANGEBYSCORE', readers, now, '+inf')
  for _, process in ipairs(found) do
    hint('r', chat, process)
  end
  return #found
end
local function is_error(answer)
  return type(answer) == 'table' and answer.err
end
local answers = {}
for first = 1, #KEYS, PARTS do
  local lease, turn, entries = KEYS[first], KEYS[first + 1], KEYS[first + 2]
  local readers, claim, inbox = KEYS[first + 3], KEYS[first + 4], KEYS[first + 5]
  local replies, session = KEYS[first + 6], KEYS[first + 7]
  local chat, id = take(), take()
  local held = redis.call('GET', lease)
  local claimed = redis.call('HGET', claim, 'id')
  local shown = held and claimed == held and claim or turn  -- the hash of the turn for readers
  local answer = {}
  local function holds(lease_ms)
    if held then
      return held == id
    end
    local last = redis.call('HMGET', claimed == id and claim or turn, 'id', 'state')
    if last[1] ~= id or last[2] ~= 'running' then
      return false
    end
    return not is_error(redis.pcall('SET', lease, id, 'PX', lease_ms))
  end
  local function begin_turn()
    if claimed == id then
      redis.call('DEL', entries)
      redis.call('RENAME', claim, turn)
      hint_readers(chat, readers)
    end
  end
"""

_TAIL: Final = """
  answers[#answers + 1] = answer
end
return """


class Script(Struct, frozen=True):
    """A script, and the digest by which Redis knows it once it ran.

    `parts`: of how many of the `PARTS` it gets the keys, from the first one on.
    """

    text: str
    digest: str
    parts: int


def _script(body: str, answers: str = "answers", parts: int = len(PARTS)) -> Script:
    text = f"{_HEAD.replace('PARTS', str(parts))}{body}{_TAIL}{answers}"
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), parts)


CLAIM: Final = _script("""
  local former, process, lease_ms, kept_ms = take(), take(), take(), take()
  local head, note = take(), take()
  if held and held ~= id and held ~= former then
    answer = {0, redis.call('HGET', shown, 'head') or ''}
  else
    redis.call('SET', lease, id, 'PX', lease_ms)  -- raises if the memory is full, before a change
    redis.call('DEL', claim, inbox)
    if redis.call('HGET', turn, 'id') ~= id then
      redis.call('HSET', claim, 'id', id, 'process', process, 'state', 'running', 'head', head)
      redis.call('PEXPIRE', claim, kept_ms)
    end
    if note ~= '' then
      redis.call('HSET', redis.call('HGET', turn, 'id') == id and turn or claim, 'note', note)
    end
    if held == former and redis.call('HGET', turn, 'id') == former then  -- its end will never come
      redis.call('DEL', turn, entries)
      hint_readers(chat, readers)
    end
    answer = {1}
  end
""")
"""Claim a chat for a turn, unless another one runs than `former`. Returns whether the turn has it.

If not, the head of the one that has it follows. `note`: why nobody can read the turn, or empty.
"""

LOST: Final = -1
HOLE: Final = -2
FULL: Final = -3

APPEND: Final = _script(
    """
  local lease_ms, ends, kept_ms, fields = take(), take(), tonumber(take()), tonumber(take())
  local about = {}
  for field = 1, fields do
    about[field] = take()
  end
  local from, count, base = tonumber(take()), tonumber(take()), tonumber(take())
  local begin = at + 1
  at = at + count
  if not holds(lease_ms) then
    answer = {-1, 0}
  else
    begin_turn()
    local gone = tonumber(redis.call('HGET', turn, 'base') or 0)
    local has = gone + redis.call('LLEN', entries) - from
    if has < 0 then
      answer = {-2, 0}
    else
      local done = nil
      if has < count then
        done = redis.pcall('RPUSH', entries, unpack(values, begin + has, at))
      end
      if not is_error(done) and base > gone then
        redis.call('LTRIM', entries, base - gone, -1)
        done = redis.pcall('HSET', turn, 'base', base)
      end
      if not is_error(done) and fields > 0 then
        done = redis.pcall('HSET', turn, unpack(about))
      end
      if not is_error(done) and ends ~= '' then
        local ends_at = now + kept_ms
        if kept_ms < 0 then
          ends_at = tonumber(redis.call('HGET', turn, 'until') or now)
          kept_ms = math.max(1, ends_at - now)
        end
        done = redis.pcall('HSET', turn, 'state', ends, 'until', ends_at)
      end
      if is_error(done) then
        answer = {-3, 0}
      else
        if ends ~= '' then
          redis.call('DEL', lease, inbox)
          redis.call('PEXPIRE', turn, kept_ms)
        end
        redis.call('PEXPIRE', entries, kept_ms)
        answer = {from + count, hint_readers(chat, readers)}
      end
    end
  end
""",
    "cmsgpack.pack(answers)",
    parts=6,  # the library takes a quarter of a microsecond for each key
)
"""Add frames, the first of which has the index `from`, and forget those before `base`.

The turn begins with its first call: the former turn of the chat is forgotten.

`ends`: the state in which the turn gives the chat up, or empty. `kept_ms`: how long it is kept
after that; -1: until the time of the last such state.

Returns how many frames there were in all, and how many processes read them. Or `LOST`: another turn
has the chat. `HOLE`: Redis lost frames before these. `FULL`: it has no memory.
"""

KEEP: Final = _script("""
  local lease_ms, kept_ms = take(), take()
  if not holds(lease_ms) then
    answer = {-1}
  else
    redis.call('PEXPIRE', lease, lease_ms)
    for _, key in ipairs(claimed == id and {claim, inbox} or {turn, entries, inbox}) do
      redis.call('PEXPIRE', key, kept_ms)
    end
    answer = redis.call('HGETALL', inbox)
    table.insert(answer, 1, redis.call('ZCOUNT', readers, now, '+inf'))
  end
""")
"""Renew the lease. Returns how many processes read the turn, and the messages to this one.

Or `LOST`.
"""

READ: Final = _script("""
  local from, most, process, reader_ms = tonumber(take()), tonumber(take()), take(), take()
  local last = redis.call('HMGET', shown, 'id', 'state', 'base', 'process')
  from = from - tonumber(last[3] or 0)
  if last[1] ~= id or from < 0 then
    answer = {'', 0}
  else
    answer = {last[2], held == id and redis.call('PTTL', lease) or 0}
    local size = 0
    while size < most and shown == turn do
      local some = redis.call('LRANGE', entries, from, from + 31)
      for _, entry in ipairs(some) do
        answer[#answer + 1] = entry
        size = size + #entry
      end
      from = from + 32
      if #some < 32 then
        break
      end
    end
    if process ~= '' then  -- a full memory is no reason not to read
      if redis.pcall('ZADD', readers, now + reader_ms, process) == 1 then
        hint('w', chat, last[4])
      end
      redis.call('PEXPIRE', readers, reader_ms)
      for _, key in ipairs({shown, shown == turn and entries or nil}) do
        if redis.call('PTTL', key) < tonumber(reader_ms) then
          redis.call('PEXPIRE', key, reader_ms)
        end
      end
    end
  end
""")
"""Read frames from an index on, `most` bytes or a little more; this process reads for a while.

Returns the state of the turn (empty if the chat has another turn, or the frames are forgotten), for
how many milliseconds its process surely lives, and the frames.
"""

LEAVE: Final = _script("""
  local process = take()
  if redis.call('ZREM', readers, process) == 1 then
    local owner = redis.call('HGET', shown, 'process')
    if owner then
      hint('w', chat, owner)
    end
  end
""")
"""Note that this process does not read any more."""

FIND: Final = _script("""
  local last = redis.call('HMGET', shown, 'id', 'state', 'head', 'count', 'closed', 'note', 'base')
  for field = 1, 7 do
    answer[field] = last[field] or ''
  end
  answer[8] = held and held == last[1] and 1 or 0
""")
"""Return what the hash says of the last turn, and whether its process lives."""

SESSION: Final = _script("""
  answer[1] = redis.call('GET', session) or ''
""")
"""Return the agent's session of a chat, or an empty string."""

KEEP_SESSION: Final = _script("""
  local session_id, kept_ms = take(), take()
  redis.call('SET', session, session_id, 'PX', kept_ms)
""")
"""Keep the agent's session of a chat."""

RESUME: Final = _script("""
  local process, lease_ms, kept_ms = take(), take(), take()
  local last = redis.call('HMGET', turn, 'id', 'head', 'base', 'state')
  if held or last[4] ~= 'waiting' then
    answer = {''}
  else
    redis.call('SET', lease, last[1], 'PX', lease_ms)
    redis.call('DEL', claim)  -- of a process that died
    redis.call('HSET', turn, 'state', 'running', 'process', process)
    for _, key in ipairs({turn, entries}) do
      redis.call('PEXPIRE', key, kept_ms)
    end
    answer = {last[1], last[2], last[3] or '', redis.call('LLEN', entries)}
    hint_readers(chat, readers)
  end
""")
"""Continue the turn that waits. Returns its id, head and base, and how many frames it has.

Or one empty text: no turn waits.
"""

FORGET: Final = _script("""
  local note, ends, kept_ms, has_begun = take(), take(), tonumber(take()), take() == 1
  if claimed == id and not has_begun then
    if ends == '' then
      redis.pcall('HSET', claim, 'note', note)
    else
      redis.call('DEL', claim)
      if held == id then
        redis.call('DEL', lease, inbox)
      end
    end
    hint_readers(chat, readers)
  else
    begin_turn()
  end
  if redis.call('HGET', turn, 'id') == id then
    redis.call('DEL', entries)
    if ends ~= '' and held == id then
      redis.call('DEL', lease, inbox)
    end
    if ends ~= '' and kept_ms == 0 then
      redis.call('DEL', turn, replies)
    else
      local state = ends ~= '' and ends or 'running'
      redis.pcall('HSET', turn, 'state', state, 'note', note, 'base', '9007199254740991')
      if ends ~= '' then
        redis.call('PEXPIRE', turn, kept_ms)
      end
    end
    hint_readers(chat, readers)
  end
""")
"""Forget the frames of a turn, and note why. `ends` and `kept_ms` as for `APPEND`; 0: all of it.

With the end of a claim whose turn has not begun, the chat has its former turn again.
"""

NOT_RECEIVED: Final = _script("""
  local note = redis.call('HMGET', turn, 'id', 'note')
  if note[1] == id and note[2] == 'received' then
    redis.call('HDEL', turn, 'note')
  end
""")
"""Note that the client did not get the end of the turn after all."""

SEND: Final = _script("""
  local number, message, kept_ms = take(), take(), take()
  if held ~= id then
    answer = {0}
  else
    redis.call('HSET', inbox, number, message)
    redis.call('PEXPIRE', inbox, kept_ms)
    hint('w', chat, redis.call('HGET', shown, 'process'))
    answer = {1}
  end
""")
"""Give the process that runs a turn a message. Returns whether the turn runs."""

REPLY: Final = _script("""
  local number, process, reply, kept_ms = take(), take(), take(), take()
  redis.call('HDEL', inbox, number)
  redis.call('HSET', replies, number, reply)
  redis.call('PEXPIRE', replies, kept_ms)
  hint('r', chat, process)
""")
"""Answer a message, and forget it."""

ASK: Final = _script("""
  answer = {held == id and 1 or 0, redis.call('HGET', replies, take()) or ''}
""")
"""Return whether the turn runs, and the reply to a message; empty: there is none yet."""
