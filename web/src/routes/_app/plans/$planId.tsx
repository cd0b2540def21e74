import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { PlanScreen } from '~/screens/plans/plan-screen';

export const Route = createFileRoute('/_app/plans/$planId')({
  component: PlanScreen,
  loader: words('plans', 'domains'),
});
