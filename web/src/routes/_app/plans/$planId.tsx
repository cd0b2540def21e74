import { createFileRoute } from '@tanstack/react-router';
import { PlanScreen } from '~/screens/plans/plan-screen';

export const Route = createFileRoute('/_app/plans/$planId')({ component: PlanScreen });
