import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Props extends AnchorProps {
  /** an address of the console: `/domains/7` */
  to: string;
  search?: Record<string, string>;
  children: ReactNode;
}

/** A link within the console. */
export function AppLink({ to, search, children, ...rest }: Props) {
  return (
    <Anchor {...rest} renderRoot={(props) => <Link to={to as never} search={(search ?? {}) as never} {...props} />}>
      {children}
    </Anchor>
  );
}
