import { answerQuestion } from '../../layers/tokenizer/answer-question.ts'

/** Invoked by chat alone. It logs nothing. */
export const handler = async (question: unknown) => answerQuestion(question)
