"""placeholder"""

from langchain_core.language_models import BaseChatModel


class DemoModel(BaseChatModel):
    pass
