import { answerQuestion } from '#tokenizer'

/** Invoked by chat alone. It logs nothing. */
export const handler = async (question: unknown) => answerQuestion(question)
