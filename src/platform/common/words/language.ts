import type { MessageLanguage } from './words.js';

const known = (text: string): MessageLanguage | null => {
  const [language] = text.toLowerCase().split('-');
  return language === 'zh' || language === 'en' ? language : null;
};

/**
 * The language of messages: the first of Chinese and English that `Accept-Language` prefers; where it names none of
 * them before `*`, that of the user; else English.
 * @param accepted what `Accept-Language` names, best first, as `acceptsLanguages()` of Express returns it
 * @param ofUser the setting of the signed-in user
 */
export function messageLanguage(accepted: readonly string[], ofUser: string | undefined): MessageLanguage {
  for (const text of accepted) {
    if (text === '*') break;
    const language = known(text);
    if (language) return language;
  }
  return known(ofUser ?? '') ?? 'en';
}
