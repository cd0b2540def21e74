import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** The accent: what can be acted on, and what is chosen. */
const petrol: MantineColorsTuple = [
  '#e9f3f4',
  '#d3e5e7',
  '#a8ccd1',
  '#7ab2b9',
  '#549da6',
  '#398d98',
  '#278591',
  '#116f7b',
  '#0b5f69',
  '#064e57',
];

/** Paper: greys with a little yellow in them. */
const gray: MantineColorsTuple = [
  '#f8f8f5',
  '#f0f0ec',
  '#e4e4de',
  '#d4d4cc',
  '#b9b9b0',
  '#96968d',
  '#74746c',
  '#55554f',
  '#3a3a36',
  '#232321',
];

/** Slate, for the dark scheme; 7 is the page. */
const dark: MantineColorsTuple = [
  '#d9dedf',
  '#b6bdbf',
  '#8f999c',
  '#687377',
  '#434c50',
  '#333b3f',
  '#23292c',
  '#1a1f21',
  '#14181a',
  '#0e1113',
];

const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SANS =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';

/** The rules are in docs/console-design.md. */
export const theme = createTheme({
  primaryColor: 'petrol',
  colors: { petrol, gray, dark },
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  luminanceThreshold: 0.18,
  defaultRadius: 3,
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '20px', xl: '32px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '14px', lineHeight: '20px' },
      h3: { fontSize: '13px', lineHeight: '20px' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  // as plain objects: `extend` would bring all of these components into the first load
  components: {
    Anchor: { defaultProps: { underline: 'hover' } },
    Badge: { defaultProps: { variant: 'light', radius: 3, size: 'sm', tt: 'none', fw: 500 } },
    Button: { defaultProps: { size: 'xs', fz: 13, fw: 500 } },
    // what is needed says nothing: what is optional says so
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Loader: { defaultProps: { type: 'dots' } },
    // within its landmark, and over the edge of a table; its invisible first stop is no item of a menu
    Menu: {
      defaultProps: {
        shadow: 'sm',
        position: 'bottom-end',
        withinPortal: false,
        floatingStrategy: 'fixed',
        withInitialFocusPlaceholder: false,
      },
    },
    Notification: { defaultProps: { withBorder: true } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});

const HUES = ['petrol', 'red', 'green', 'yellow', 'orange', 'blue', 'gray', 'grape', 'teal'];

/** What Mantine's own colours lack to be read by everybody (4.5 to 1), in both schemes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { '--zw-rail': '208px', '--zw-bar': '44px' },
  light: {
    '--mantine-color-body': '#fdfdfb',
    '--mantine-color-text': '#1d1f1e',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': '#6a6d6b',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-petrol-8)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-4)',
    '--zw-line': 'var(--mantine-color-gray-2)',
    '--zw-sunk': '#f5f5f1',
    '--zw-hover': '#f0f0eb',
    '--zw-chosen': 'var(--mantine-color-petrol-0)',
    '--zw-good': '#1c6b3a',
    '--zw-warn': '#855300',
    '--zw-bad': '#a82020',
    '--zw-good-soft': '#e3f2e6',
    '--zw-warn-soft': '#fbf0d9',
    '--zw-bad-soft': '#fbe6e3',
    ...Object.fromEntries(
      HUES.flatMap((hue) => [
        [`--mantine-color-${hue}-light-color`, `color-mix(in srgb, var(--mantine-color-${hue}-9), black 35%)`],
        [`--mantine-color-${hue}-outline`, `color-mix(in srgb, var(--mantine-color-${hue}-9), black 25%)`],
      ]),
    ),
  },
  dark: {
    '--mantine-color-text': '#e3e7e8',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': '#9aa3a6',
    '--mantine-color-error': '#ff9b93',
    '--mantine-color-anchor': 'var(--mantine-color-petrol-2)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-4)',
    '--zw-line': 'var(--mantine-color-dark-5)',
    '--zw-sunk': 'var(--mantine-color-dark-8)',
    '--zw-hover': 'var(--mantine-color-dark-6)',
    '--zw-chosen': '#17343a',
    '--zw-good': '#7fd19a',
    '--zw-warn': '#f0c069',
    '--zw-bad': '#ff9b93',
    '--zw-good-soft': '#15301f',
    '--zw-warn-soft': '#352a12',
    '--zw-bad-soft': '#3a1c1c',
    ...Object.fromEntries(HUES.map((hue) => [`--mantine-color-${hue}-light-color`, `var(--mantine-color-${hue}-2)`])),
  },
});
