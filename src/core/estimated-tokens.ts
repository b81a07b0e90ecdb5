/** Of English text and of code, about, in the tokenizers of all vendors. */
export const bytesPerToken = 4
