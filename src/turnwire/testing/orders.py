"""Tests of frames that come in another order, damaged, or with garbage between."""

from random import Random

from turnwire.core.turn.outcome import Outcome
from turnwire.testing.base import ScriptedAgent, about
from turnwire.testing.client_model import need
from turnwire.testing.damage import GARBAGE, disorder
from turnwire.testing.scripts import Script


class Orders(ScriptedAgent):
    def test_any_order_keeps_the_promises(self, script: Script) -> None:
        """Frames that are shuffled, dropped, doubled, cut or damaged make a stream that ends."""
        frames = self.scripted(script)
        others = [frame for other in self.scripts().values() for frame in self.scripted(other)]
        for seed in range(self.seeds):
            dice = Random(f"{script.name} {seed}")  # noqa: S311 (a seed, to see a failure again)
            mixed = disorder(frames, others, dice)
            with about(f"The seed is {seed}, the frames are {mixed}"):
                played = self.play()
                while mixed:
                    if dice.randrange(5) == 0:
                        played.read_long(mixed.pop(0))
                        continue
                    count = dice.randint(1, 3)
                    played.read(mixed[:count])
                    del mixed[:count]
                played.leave().close()

    def test_garbage_changes_nothing(self, script: Script) -> None:
        """Frames that nobody can read are counted, and the stream is as without them."""
        frames = self.scripted(script)
        plain = self.play().receive(frames).leave()
        for garbage in GARBAGE:
            with about(f"The garbage is {garbage[:100]!r}"):
                played = self.play()
                for frame in frames:
                    played.prepare(garbage)
                    played.receive([garbage, frame])
                played.leave().close()
                need(played.client.parts == plain.client.parts, "the message is another one")
                need(played.turn.outcome is plain.turn.outcome, "the turn ends in another way")
                stats = played.protocol.frame_stats
                counted = stats.malformed + stats.foreign + sum(stats.unrecognised.values())
                need(counted, "nothing is counted")

    def test_an_unsound_agent_is_left(self) -> None:
        """Frames that are no JSON count as wasted: an agent that sends many is cut off."""
        played = self.play()
        for _ in range(1_100):
            played.read([b"thistle"])
        need(played.turn.outcome is Outcome.UNSOUND, "the turn goes on after 1,100 of them")
        played.close()
