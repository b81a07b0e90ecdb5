export { readOpenAiError as readChatError, writeOpenAiError as writeChatError } from '../openai-errors.ts'
