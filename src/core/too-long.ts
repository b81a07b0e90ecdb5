/**
 * How vendors without an error code for it say that a request is too long for the model: Anthropic, Google, DeepSeek,
 * OpenRouter, Mistral, Groq, vLLM, SGLang, llama.cpp, LM Studio.
 */
export const tooLongWords =
  /maximum context length|context (?:length|window|limit|size)|(?:prompt|input) is too long|prompt contains \d+ tokens|token count.*exceeds|exceeds the maximum number of tokens|too many (?:input )?tokens|reduce the length of the messages/i
