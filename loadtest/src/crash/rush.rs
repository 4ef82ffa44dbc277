//! Customers who pay and cashiers who sell, all at once, until it ends.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::cashier::Cashier;
use super::flow::Flow;
use super::payer::Payer;

/// All of them at work. When this is dropped before `end`, they continue until the process ends.
pub struct Rush {
    flow: Arc<Flow>,
    buying: Vec<JoinHandle<Result<Payer, String>>>,
    selling: Vec<JoinHandle<Result<Cashier, String>>>,
}

impl Rush {
    pub fn begin(to: SocketAddr, customers: Vec<Payer>, cashiers: Vec<Cashier>) -> Self {
        let flow = Arc::new(Flow::default());
        let buy = |mut customer: Payer| {
            let flow = flow.clone();
            tokio::spawn(async move {
                while !flow.is_closed() {
                    customer.buy(to, &flow).await?;
                }
                Ok(customer)
            })
        };
        let buying = customers.into_iter().map(buy).collect();
        let sell = |mut cashier: Cashier| {
            let flow = flow.clone();
            tokio::spawn(async move {
                while !flow.is_closed() {
                    cashier.work(to).await?;
                }
                Ok(cashier)
            })
        };
        let selling = cashiers.into_iter().map(sell).collect();
        Self { flow, buying, selling }
    }

    pub fn flow(&self) -> Arc<Flow> {
        self.flow.clone()
    }

    /// Lets them finish what they have begun.
    ///
    /// # Errors
    /// A guarantee that an answer broke.
    pub async fn end(self) -> Result<(Vec<Payer>, Vec<Cashier>), String> {
        self.flow.close();
        let (mut customers, mut cashiers) = (Vec::new(), Vec::new());
        for task in self.buying {
            customers.push(task.await.map_err(|e| e.to_string())??);
        }
        for task in self.selling {
            cashiers.push(task.await.map_err(|e| e.to_string())??);
        }
        Ok((customers, cashiers))
    }
}
