import i18n, { type BackendModule } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { CHOICES } from './session/choices';

export const LANGUAGES = { en: 'English', zh: '简体中文' } as const;
export type Language = keyof typeof LANGUAGES;

const files = import.meta.glob<{ default: Record<string, unknown> }>('./locales/*/*.json');

/** Words are loaded by language and area, when a screen of the area is opened. */
const backend: BackendModule = {
  type: 'backend',
  init() {},
  read(language, namespace, done) {
    const load = files[`./locales/${language}/${namespace}.json`];
    if (!load) return done(new Error(`no words: ${language}/${namespace}`), null);
    load().then(
      (words) => done(null, words.default),
      // true: i18next tries again some times
      (error) => done(error, true),
    );
  },
};

const isLanguage = (text: string | null | undefined): text is Language => text === 'en' || text === 'zh';

/** The language that was chosen here, or null. */
export function chosenLanguage(): Language | null {
  try {
    const kept = localStorage.getItem(CHOICES.language);
    return isLanguage(kept) ? kept : null;
  } catch {
    return null;
  }
}

const ofBrowser = (): Language => (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en');

/** Shows the page in this language. */
export const showLanguage = (language: Language): Promise<unknown> => i18n.changeLanguage(language);

/** Shows the console in this language from now on, in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  try {
    localStorage.setItem(CHOICES.language, language);
  } catch {
    // storage is refused: until the page is left
  }
  await showLanguage(language);
}

const AGAIN_MS = 5000;
// a network that is away for long: what is there shows keys until then
i18n.on('failedLoading', (language, namespace) => {
  if (files[`./locales/${language}/${namespace}.json`])
    setTimeout(() => void i18n.reloadResources([language], [namespace]), AGAIN_MS);
});

/** Loads the files of words of all areas in the language that is shown. What is drawn is not drawn again for them. */
export const loadAllWords = (): Promise<unknown> =>
  Promise.allSettled(
    Object.entries(files).flatMap(([file, load]) => (file.startsWith(`./locales/${i18n.language}/`) ? [load()] : [])),
  );

i18n.on('languageChanged', (language) => {
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en';
});

export const ready = i18n
  .use(backend)
  .use(initReactI18next)
  .init({
    lng: chosenLanguage() ?? ofBrowser(),
    supportedLngs: Object.keys(LANGUAGES),
    fallbackLng: false,
    ns: ['common', 'shell', 'session'],
    defaultNS: 'common',
    // the language is known at once, to those who ask the service while the words are on their way
    initAsync: false,
    interpolation: { escapeValue: false },
    react: { useSuspense: true, bindI18nStore: 'added' },
  });

/**
 * What loads the words of areas beside the code of a screen. A screen that waited for its words after it was drawn would
 * be late: React shows what stood in its place for at least 300 ms.
 */
export const words =
  (...areas: string[]) =>
  (): Promise<void> =>
    i18n.loadNamespaces(areas);

export default i18n;
