"""An agent of pydantic-ai gives the answers: the extra `pydantic-ai`.

Nothing else of the runtime imports this package. Who has such an agent does so:

    agent = Agent(answers=PydanticAiAnswers(assistant), tools=(mail,))
"""

try:
    from turnwire_agent.drivers.pydantic_ai.answers import OwnApprovalError, PydanticAiAnswers
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("pydantic"):
        raise
    raise ImportError(
        "an agent of pydantic-ai needs pip install 'turnwire-agent[pydantic-ai]'"
    ) from None

__all__ = ["OwnApprovalError", "PydanticAiAnswers"]
