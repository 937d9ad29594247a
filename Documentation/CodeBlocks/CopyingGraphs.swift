let secret = "secret"
let threeCustomers = ["Ada", "Grace", "Ada"].map { name in
    let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
    customer.setValue(name, forKey: "name")
    return customer
}
try context.save()
