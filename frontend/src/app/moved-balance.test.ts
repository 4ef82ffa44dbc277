import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, it, vi } from 'vitest'
import { historyQuery } from '@/features/history/calls'
import { ownerEpayQuery } from '@/features/purchase/calls'
import { qrcodeQuery } from '@/features/topup/calls'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import type { AkunEpay } from '@/shared/api/model'
import { takeBalance } from './moved-balance'

const account = (idcustomer: number, saldo: number): AkunEpay => ({
  idcustomer,
  nama: 'Siti Rahmawati',
  owner_idowner: 1,
  outlet: null,
  quota_emoney: { saldo, jenis_emoney: 2, masa_aktif: null, updated_at: '2026-11-20T11:05:00Z' },
})

const balances = (client: QueryClient, key: readonly unknown[]) =>
  client.getQueryData<AkunEpay[]>(key)?.map(({ quota_emoney }) => quota_emoney?.saldo)

const keys = {
  dashboard: dashboardQuery().queryKey,
  epay: epayQuery().queryKey,
  ownerEpay: ownerEpayQuery(1).queryKey,
  history: historyQuery('').queryKey,
  topUps: historyQuery('pembelian_emoney').queryKey,
  qrcode: qrcodeQuery().queryKey,
}

const change = { idcustomer: 7, saldo: 85_000, sebab: 'topup' } as const

it('stands in every list of accounts at once, which is as old as it was', () => {
  const client = new QueryClient()
  const lists = [keys.epay, keys.ownerEpay]
  for (const key of lists) {
    client.setQueryData(key, [account(6, 1_000), account(7, 35_000)], { updatedAt: 5_000 })
  }
  takeBalance(client, change)
  for (const key of lists) {
    expect(balances(client, key)).toEqual([1_000, 85_000])
    expect(client.getQueryState(key)).toMatchObject({ dataUpdatedAt: 5_000, isInvalidated: true })
  }
})

it('makes dashboard and history old, and nothing of what was never asked for', () => {
  const client = new QueryClient()
  for (const key of [keys.dashboard, keys.history, keys.topUps, keys.qrcode])
    client.setQueryData<unknown>(key, {})
  takeBalance(client, change)
  const old = client.getQueryCache().findAll({ predicate: ({ state }) => state.isInvalidated })
  expect(old.map(({ queryKey }) => queryKey)).toEqual([keys.dashboard, keys.history, keys.topUps])
  expect(client.getQueryData(keys.epay)).toBeUndefined()
})

it.each([['the first one'], ['a later one']])('an older answer under way is not taken: %s', async (which) => {
  const client = new QueryClient()
  if (which === 'a later one') client.setQueryData(keys.epay, [account(7, 35_000)])
  const answers: ((accounts: AkunEpay[]) => void)[] = []
  const queryFn = () => new Promise<AkunEpay[]>((answer) => answers.push(answer))
  const leave = new QueryObserver(client, { queryKey: keys.epay, queryFn }).subscribe(() => undefined)
  expect(answers).toHaveLength(1)
  takeBalance(client, change)
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  answers[0]?.([account(7, 35_000)])
  answers[1]?.([account(7, 85_000)])
  await vi.waitFor(() => expect(client.isFetching()).toBe(0))
  expect(balances(client, keys.epay)).toEqual([85_000])
  leave()
})
