import { useParams } from 'react-router'
import { OutletPage } from './outlet-page'
import { OutletsPage } from './outlets-page'

/** The customer's outlets, or the machines of one of them. */
export default function OutletPages() {
  const { id } = useParams()
  return id === undefined ? <OutletsPage /> : <OutletPage key={id} id={Number(id)} />
}
