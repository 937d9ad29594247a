#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    @_spi(Stores) import ManagedObjects

    /// An attribute whose values are columns.
    struct RowAttribute {
        let plan: AttributePlan
        let codec: any RowCodec
        let slot: Int

        /// Nil if rows do not support the attribute.
        init?(_ attribute: AttributePlan, in table: EntityRows) {
            guard !attribute.isDerived, let slot = table.slot(ofAttribute: attribute.name),
                let codec = attribute.codec as? any RowCodec
            else { return nil }
            plan = attribute
            self.codec = codec
            self.slot = slot
        }
    }

#endif
