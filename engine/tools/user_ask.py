"""user_ask: a question to the person."""

from __future__ import annotations

from pydantic import Field

from engine.text import clean
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import failed
from engine.tools.words import one_line


class UserAskInput(ToolInput):
    question: str = Field(min_length=1, description="The question, with what the person needs to know to answer it.")
    options: list[str] = Field(
        default=[],
        max_length=8,
        description="Answers to choose from, if there are clear ones; free text stays possible.",
    )


class UserAsk(Tool[UserAskInput]):
    name = "user_ask"
    description = (
        "Ask the person a question and wait for the answer. Use it when the task cannot go on without a decision that "
        "is theirs: contradicting requirements, a missing fact only they know, a choice that is hard to take back. Do "
        "not use it for what you can find out with other tools, to report progress, or to ask whether to go on. "
        "Returns the answer as text, or says that nobody is there to answer."
    )
    input = UserAskInput

    def title(self, args: UserAskInput) -> str:
        return one_line(args.question)

    async def run(self, args: UserAskInput, ctx: ToolContext) -> ToolOutcome:
        options = tuple(option for text in args.options if (option := clean(text).strip()))
        try:
            answer = clean(await ctx.ask_user(clean(args.question), options))
        except TimeoutError:
            return failed(
                "Nobody answered the question.",
                "Go on with the most careful assumption that can be taken back, and say in your answer which one.",
                summary="no answer",
            )
        return ToolOutcome(
            status="ok",
            output=f"The person answered:\n{answer}" if answer.strip() else "The person gave an empty answer.",
            summary=one_line(answer, 80) or "empty answer",
        )
