import { type ApiError, explain } from '@/shared/api/error'
import { OLD_PASSWORD_WRONG } from './calls'
import { dataCopy } from './data-copy'

export const isPasswordWrong = ({ message }: ApiError) => message.includes(OLD_PASSWORD_WRONG)

/** Explains a refusal that may be about the password of this account. */
export const passwordTexts = (error: ApiError) =>
  isPasswordWrong(error) ? { title: dataCopy.wrongPassword, body: dataCopy.checkPassword } : explain(error)
