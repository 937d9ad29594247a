/// Sets a relationship of an object that is in no context, and the inverse at the other end.
///
/// The engine does this for inserted objects. Before insertion the models keep each other up to date, so that a graph is consistent
/// from the beginning.
struct PendingLinks {
    let owner: any PersistentModel
    let record: ModelRecord

    func set<Value>(_ value: Value, of property: TypedProperty<Value>) {
        let old = record.ownModels(of: property)
        record.setOwn(value, at: property.index)
        let new = property.models(in: value)
        if let inverse = Inverses.inverse(of: property, in: record.modelClass) {
            let kept = Set(new.map { ObjectIdentifier($0) })
            let known = Set(old.map { ObjectIdentifier($0) })
            for model in old where !kept.contains(ObjectIdentifier(model)) { remove(owner, from: inverse, of: model) }
            for model in new where !known.contains(ObjectIdentifier(model)) {
                add(owner, to: inverse, of: model, from: property)
            }
        }
        // An object that is in a context takes the new one with it.
        if let context = new.lazy.compactMap({ $0._record?.modelContext }).first { context.insert(owner) }
    }

    /// Ends the relationship of the owner to another object that the other end of a property will replace.
    ///
    /// - Parameter property: The relationship at that end, of an object in a context.
    func makeRoom(for property: ModelProperty, of modelClass: ModelClass) {
        guard let inverse = Inverses.inverse(of: property, in: modelClass), !inverse.isToMany else { return }
        let current = record.ownModels(of: inverse)
        if current.isEmpty { return }
        for previous in current { remove(owner, from: property, of: previous) }
        write([], to: inverse, of: owner, record)
    }

    private func add(
        _ added: any PersistentModel, to inverse: ModelProperty, of model: any PersistentModel,
        from property: ModelProperty
    ) {
        guard let other = model._record, other.object == nil else { return }
        let current = other.ownModels(of: inverse)
        guard !current.contains(where: { $0 === added }) else { return }
        if !inverse.isToMany {
            for previous in current { remove(model, from: property, of: previous) }
        }
        write(inverse.isToMany ? current + [added] : [added], to: inverse, of: model, other)
    }

    private func remove(_ removed: any PersistentModel, from inverse: ModelProperty, of model: any PersistentModel) {
        guard let other = model._record, other.object == nil else { return }
        let current = other.ownModels(of: inverse)
        guard current.contains(where: { $0 === removed }) else { return }
        write(current.filter { $0 !== removed }, to: inverse, of: model, other)
    }

    private func write(
        _ models: [any PersistentModel], to inverse: ModelProperty, of model: any PersistentModel, _ other: ModelRecord
    ) {
        guard let value = inverse.value(of: models) else { return }
        other.setOwn(value, at: inverse.index)
    }
}
